//go:build !linux

package family

// forks is nil: the system does not tell every user of births.
var forks func(Births) (stop func(), err error)
