package power

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }
