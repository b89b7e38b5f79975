package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// flagError says what a flag wants where the library that reads it says what failed inside of it. Other errors stay.
func flagError(err error) error {
	if flag, value, wants := refused(err); wants != "" {
		return fmt.Errorf("--%s %s: want %s", flag, value, wants)
	}
	return err
}

// settingError is flagError for the value of a setting in a file, which is named already.
func settingError(err error) error {
	if _, value, wants := refused(err); wants != "" {
		return fmt.Errorf("%s: want %s", value, wants)
	}
	return err
}

// refused returns what a flag of one of the usual types was given and wants; wants is empty where err is of something else.
func refused(err error) (flag, value, wants string) {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return "", "", ""
	}
	return invalid.GetFlag().Name, invalid.GetValue(), map[string]string{
		"int":      "a whole number",
		"int64":    "a whole number",
		"uint64":   "a whole number from 0",
		"float64":  "a number",
		"bool":     "true or false",
		"duration": "a time such as 90s, 10m or 1h30m",
	}[invalid.GetFlag().Value.Type()]
}
