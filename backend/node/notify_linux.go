package node

import (
	"context"
	"html"

	"github.com/godbus/dbus/v5"
)

// notify shows a notification by the desktop's own service
// (org.freedesktop.Notifications, version 1.2). Its body may have markup, which
// is none of a gateway's business.
func notify(ctx context.Context, n note) error {
	bus, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return err
	}
	defer bus.Close()
	urgency := byte(1)
	if n.Passive {
		urgency = 0
	}
	return bus.Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications").CallWithContext(ctx, "org.freedesktop.Notifications.Notify", 0,
		"Countersign", uint32(0), "", n.Title, html.EscapeString(n.Body), []string{}, map[string]dbus.Variant{"urgency": dbus.MakeVariant(urgency)}, int32(-1)).Err
}
