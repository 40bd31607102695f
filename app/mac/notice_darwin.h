// Notifications, the global shortcut and the end of the app. All of these return at once.

// CSNotify shows a notification.
void CSNotify(const char *name, const char *title, const char *body);

// CSUnnotify takes it away.
void CSUnnotify(const char *name);

// CSHearNotices calls CSReviewed for each notification that is pressed, also for
// the one that started the app, and takes older ones away.
void CSHearNotices(void);

// CSHearEvents calls CSQuit when the system ends the app, and CSReopened when
// somebody opens it while it runs.
void CSHearEvents(void);

// CSTakeShortcut takes ⌃⌥⌘C, unless another app has it.
void CSTakeShortcut(void);
