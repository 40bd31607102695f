package screen

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/godbus/dbus/v5"
)

const (
	manager  = "org.freedesktop.login1"
	session  = manager + ".Session"
	property = "org.freedesktop.DBus.Properties"
)

// Watch tells whether this session is away, first as it is and then at every
// change, until ctx ends. It asks logind on the system's bus, which no program
// of the person can stand in for. Without logind, or outside of a session of
// it, it returns an error and has told nothing; when the bus goes it tells that
// the session is there.
func Watch(ctx context.Context, tell func(away bool)) error {
	bus, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("cannot ask whether the screen is locked: %w", err)
	}
	defer bus.Close()
	var at dbus.ObjectPath
	whole := bus.Object(manager, "/org/freedesktop/login1")
	if err := whole.CallWithContext(ctx, manager+".Manager.GetSession", 0, os.Getenv("XDG_SESSION_ID")).Store(&at); err != nil {
		if err := whole.CallWithContext(ctx, manager+".Manager.GetSessionByPID", 0, uint32(os.Getpid())).Store(&at); err != nil {
			return fmt.Errorf("cannot find the session of this program: %w", err)
		}
	}
	signals := make(chan *dbus.Signal, 16)
	bus.Signal(signals)
	if err := bus.AddMatchSignalContext(ctx, dbus.WithMatchSender(manager), dbus.WithMatchObjectPath(at),
		dbus.WithMatchInterface(property), dbus.WithMatchMember("PropertiesChanged")); err != nil {
		return fmt.Errorf("cannot follow the lock of the screen: %w", err)
	}
	for {
		away, err := isAway(ctx, bus.Object(manager, at))
		if err != nil {
			return fmt.Errorf("cannot tell whether the screen is locked: %w", err)
		}
		tell(away)
		select {
		case <-ctx.Done():
			return nil
		case s, open := <-signals:
			if !open || s == nil {
				tell(false)
				return errors.New("the system's bus went away: whether the screen is locked is not known any more")
			}
		}
	}
}

// isAway reports whether a session is locked or another one is in front.
func isAway(ctx context.Context, s dbus.BusObject) (bool, error) {
	locked, active := false, true
	for name, to := range map[string]*bool{"LockedHint": &locked, "Active": &active} {
		if err := s.CallWithContext(ctx, property+".Get", 0, session, name).Store(to); err != nil {
			return false, err
		}
	}
	return locked || !active, nil
}
