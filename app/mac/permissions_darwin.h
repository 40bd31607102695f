// What macOS is asked about permissions. Codes are macOS' own; package mac says
// what they mean.

enum {
	CSAccessibility,
	CSScreenRecording,
	CSInputMonitoring,
	CSPostEvents,
	CSAutomation,
	CSNotifications,
	CSMicrophone,
	CSCamera,
	CSContacts,
	CSCalendars,
	CSReminders,
	CSPhotos,
};

// CSPermissionState returns the code of a permission. It asks nobody.
int CSPermissionState(int permission);

// CSPermissionRequest has macOS ask the person, and does not wait for them.
void CSPermissionRequest(int permission);
