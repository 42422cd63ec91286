package ussd

// How a session ended, as it is remembered.
const (
	EndedByMenu    = "menu"    // a screen without a way on
	EndedByCaller  = "caller"  // command 114: the caller hung up (§6.2)
	EndedByService = "service" // a request with stage end
	EndedByTime    = "time"    // nobody typed for MaxIdle
	EndedByBegin   = "begin"   // the phone dialled anew
	EndedByRestart = "restart" // smsdesk was restarted meanwhile
	EndedByFault   = "fault"   // our part failed: the caller saw an apology
)

// Session is what is remembered of one session. Times are milliseconds since
// 1970 UTC.
type Session struct {
	ID        int64 // later sessions have higher ids
	AccountID int64
	MenuID    int64 // 0: no menu answered on the code
	Version   int
	Number    string // MSISDN as digits with country code, as far as it could be read
	Network   string
	Code      string // as dialled, without the first * and the last #
	BegunAt   int64
	LastAt    int64
	EndedAt   int64 // 0 while it is open
	Ended     string
	Steps     int
	Slowest   int64 // microseconds of our slowest answer
	Screen    string
	Test      bool // from the simulator
	// What the begin request carried beside: id.session, id.ussd, status and
	// backend.cuap.body as they came.
	ServiceID, USSDID, Status, Body string
}

// Step is one request of a session and its answer.
type Step struct {
	SessionID int64
	No        int
	At        int64
	Screen    string // key of the screen that was shown
	Input     string
	Text      string
	Took      int64 // microseconds
	End       bool
}

// SavedAnswer is one answer of a caller that a screen keeps.
type SavedAnswer struct {
	SessionID, AccountID, MenuID int64
	Number, Name, Text           string
	At                           int64
}

// SignUp is a caller who asked to be on a list.
type SignUp struct {
	AccountID    int64
	List, Number string
	At           int64
}

// Batch is what the sessions of a moment leave behind, stored together.
type Batch struct {
	Sessions []Session
	Steps    []Step
	Saved    []SavedAnswer
	Joined   []SignUp
}

// Empty says that there is nothing to store.
func (b Batch) Empty() bool {
	return len(b.Sessions)+len(b.Steps)+len(b.Saved)+len(b.Joined) == 0
}

// Draft is a menu as staff have it: the version in work and what is published.
type Draft struct {
	ID        int64
	AccountID int64
	Menu      Menu // in work
	Changed   int64
	Revision  int64 // grows with every change of the draft
	Published int   // version that callers walk through, 0: none
	Secret    string
}

// Version is one published version of a menu.
type Version struct {
	MenuID int64
	No     int
	Menu   Menu
	At     int64
	ByName string
}

// Published is what callers walk through.
type Published struct {
	AccountID, MenuID int64
	Version           int
	Secret            string
	Menu              Menu
}

// SessionFilter says which sessions of an account are wanted, newest first.
type SessionFilter struct {
	AccountID, MenuID int64
	Open              bool
	Before            int64 // ids below this; 0: from the newest
	Limit             int
}

// Drop is how many sessions saw a screen and how many ended on it without
// having come to an end of the menu.
type Drop struct {
	Screen      string
	Seen, Ended int64
}

// Move is how many sessions went from one screen to the next.
type Move struct {
	From, To string
	Callers  int64
}

// AnswerCount is how many callers gave one answer under a name.
type AnswerCount struct {
	Name, Text string
	Callers    int64
}

// The bounds of a session (internal/workers/README.md, USSD).
const (
	MaxIdle = 180_000 // milliseconds without a word of the caller
	MaxSame = 2_000   // for so long after its answer the same bytes are the same request
)

// What callers see where no menu has words for it.
const (
	Apology = "Sorry, this service is not available at the moment. Please try again."
	NoMenu  = "There is no menu for this code yet."
	Expired = "This session has expired. Dial the code again."
	Over    = "Session ended."
)

// TrialPrefix begins the id.session of the simulator's sessions.
const TrialPrefix = "simulator-"

// SettingKeep names the setting that holds for how many days sessions and
// answers are kept; KeepDays is meant where it was never set.
const (
	SettingKeep = "ussd_keep_days"
	KeepDays    = 90
)

// Question is what the owner's webhook is asked.
type Question struct {
	URL, Secret string
	At          int64
	Body        QuestionBody
}

// QuestionBody is the JSON of the request. The number is what the network
// says; it is not proof of who is calling.
type QuestionBody struct {
	Menu    string            `json:"menu"`
	Screen  string            `json:"screen"`
	Session string            `json:"session"`
	Number  string            `json:"number"`
	Network string            `json:"network"`
	Code    string            `json:"shortcode"`
	Values  map[string]string `json:"values"`
}

// SessionID is an id for a session that begins at this time and is the n-th of
// its process: ids grow with time, so that old sessions are those with low ids.
func SessionID(atMilli int64, n int64) int64 { return atMilli<<20 | n&(1<<20-1) }

// PhoneInput is what somebody does on the simulator's phone: dial (Begin), answer
// (Continue) or hang up (End). Number is an MSISDN as digits with country code.
type PhoneInput struct {
	Number, Network, Code, Text, Session string
	Stage                                Stage
}

// PhoneOutput is what came back: both bodies as they were, the microseconds between
// them, and what is wrong with the answer by §6.2, "" for nothing.
type PhoneOutput struct {
	Request, Answer string
	Took            int64
	Text            string
	End             bool
	Problem         string
}
