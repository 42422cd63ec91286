package views

// Problem is why a page cannot be shown, and what to do.
type Problem struct {
	Status      int
	Title, Text string
	// Reference is the number under which the log has the cause.
	Reference string
	Link      Link
}
