package httpapi

import "daybook/calendar"

// me answers who the credentials name, and what the role may do (docs/spec/desk.md E2.2).
func (call *call) me() error {
	call.fresh = valueNoStore
	if err := call.readParams(call.route.params); err != nil {
		return err
	}
	who := call.caller
	if who.Role == calendar.Anonymous {
		return refusal(calendar.CodeUnauthorized)
	}
	name, err := call.userName()
	if err != nil {
		return err
	}
	can := func(err error) bool { return err == nil }
	return call.sendAnswer(call.plain(object{
		"id": who.ID, "name": name, "role": who.Role.String(), "timezone": call.Site.String(),
		"can": object{
			"create": can(calendar.MayWrite(who, calendar.KindEvent)), "publish": calendar.MayPublish(who),
			"edit_others": calendar.MayCreateTerm(who, calendar.KindTag), "manage_categories": calendar.MayCreateTerm(who, calendar.KindCategory),
			"manage_tags": calendar.MayCreateTerm(who, calendar.KindTag), "read_all": who.ReadsAll(), "read_history": can(call.mayReadPast()),
		},
	}))
}

// userName returns the name of the caller, "" where there is none.
func (call *call) userName() (string, error) {
	users, err := call.Records.Load(call.context, call.caller.ID)
	if err != nil || users[0] == nil {
		return "", err
	}
	return users[0].Fields.String("name"), nil
}
