package httpapi

import (
	"daybook/internal/formats"
	"daybook/query"
)

// calendarSource answers the events of a range as an array for calendar widgets (LISTINGS 1.13).
func (call *call) calendarSource() error {
	call.format = &formats.Calendar
	criteria, question, err := call.ask(query.Request{Caller: call.caller, Params: query.ParamsOf("source")})
	if err != nil {
		return err
	}
	return call.read(call.ofAllPages(question, criteria))
}
