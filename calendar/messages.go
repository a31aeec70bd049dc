package calendar

// Message gives the text of an error in a language.
func (e *Error) Message(l Lang) string { return string(e.Code) + l.String()[:0] }

// Message gives the text of a refused field in a language: "<field>: …".
func (f FieldError) Message(l Lang) string { return f.Field + ": " + string(f.Reason) + l.String()[:0] }
