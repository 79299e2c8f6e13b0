package run

import (
	"sync"

	"agentmesh/agent"
)

// HistoryLimit is how many messages of earlier runs are read for a prompt, beside a summary. The context size
// bounds it long before.
const HistoryLimit = 2000

// limits are the sizes that a prompt is made to fit, in tokens (D-141).
type limits struct {
	most    int // of a request; beside it there is room for the answer
	line    int // over it, older messages give way
	reserve int // of the newest runs that are left as they are
	summary int // of a summary
	result  int // bytes of one tool result
}

// The shares of the context size.
const (
	answerShare  = 8    // one in so many is room for the answer
	answerMost   = 4096 // tokens of that room
	linePercent  = 80   // of the rest: where older messages give way
	reserveShare = 10   // one in so many stays as it is
	summaryShare = 8    // one in so many is the most that a summary takes
	summaryMost  = 4096 // tokens of a summary
)

func limitsOf(size int) limits {
	most := size - min(size/answerShare, answerMost)
	return limits{
		most: most, line: most * linePercent / 100, reserve: size / reserveShare,
		summary: min(size/summaryShare, summaryMost), result: resultLimit(size),
	}
}

// size is the context size of the model, or what its endpoint was seen to take of a run's conversation.
func (s *Service) size(r agent.Run) int {
	size := s.deps.Model.ContextSize()
	if learned := s.learned.size(r); learned > 0 {
		return min(size, learned)
	}
	return size
}

// learned remembers of conversations how many tokens the endpoint takes, where that is less than it should. It is kept
// for each of them: what one endpoint says of one prompt makes nobody else's prompts shorter.
type learned struct {
	mu    sync.Mutex
	sizes map[conversation]int
}

type conversation struct{ userID, threadID string }

// maxLearned bounds of how many conversations that is remembered; beyond it, it is learned anew.
const maxLearned = 10_000

func (l *learned) size(r agent.Run) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sizes[conversation{r.UserID, r.ThreadID}]
}

func (l *learned) keep(r agent.Run, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sizes == nil || len(l.sizes) >= maxLearned {
		l.sizes = map[conversation]int{}
	}
	l.sizes[conversation{r.UserID, r.ThreadID}] = size
}

// factor says how much larger prompts of a conversation are than the estimate, by what the endpoint counted in
// the newest one. Less than the estimate is not believed: a cache may hide a part.
func factor(p agent.Past) float64 {
	if p.Guessed <= 0 {
		return 1
	}
	return min(max(float64(p.Reported)/float64(p.Guessed), 1), 2)
}
