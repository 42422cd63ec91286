package gateway

// ProviderCode is the error code that the service answered with, "" for an
// error that is not the service's word.
func (e *Error) ProviderCode() string { return e.Code }
