package agent

// RetryData tells of a failed attempt of a model call that another one follows.
type RetryData struct {
	LLMCallID string     `json:"llmCallId"`
	Model     string     `json:"model"` // that which failed
	Class     ErrorClass `json:"class"`
	Message   string     `json:"message"`
	Next      string     `json:"next"` // the model that is asked next
	WaitMS    int64      `json:"waitMs"`
}
