package httpapi

import (
	"net/http"

	"daybook/calendar"
)

// me answers who the credentials name, and what the role may do (docs/spec/desk.md E2.2).
func (call *call) me() error {
	call.fresh = valueNoStore
	if err := call.readParams(call.route.params).err(); err != nil {
		return err
	}
	who := call.caller
	if who.Role == calendar.Anonymous {
		return calendar.Fail(calendar.CodeUnauthorized, 0)
	}
	users, err := call.Records.Load(call.request.Context(), who.ID)
	if err != nil {
		return err
	}
	var name string
	if len(users) == 1 && users[0] != nil {
		name = users[0].Fields.String("name")
	}
	can := func(err error) bool { return err == nil }
	body, err := appendJSON(nil, object{
		"id": who.ID, "name": name, "role": who.Role.String(), "timezone": call.o.Site.String(),
		"can": object{
			"create": can(calendar.MayWrite(who, calendar.KindEvent)), "publish": calendar.MayPublish(who),
			"edit_others": calendar.MayCreateTerm(who, calendar.KindTag), "manage_categories": calendar.MayCreateTerm(who, calendar.KindCategory),
			"manage_tags": calendar.MayCreateTerm(who, calendar.KindTag), "read_all": who.ReadsAll(), "read_history": can(call.mayReadPast()),
		},
	})
	if err != nil {
		return err
	}
	call.sendJSON(http.StatusOK, body)
	return nil
}
