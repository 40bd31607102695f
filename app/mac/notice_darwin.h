// Notifications, the global shortcut and the end of the app. All of these return at once.

// CSNotify shows a notification.
void CSNotify(const char *name, const char *title, const char *body);

// CSUnnotify takes it away.
void CSUnnotify(const char *name);

// CSObeyQuit calls CSQuit when the system ends the app.
void CSObeyQuit(void);

// CSTakeShortcut takes ⌃⌥⌘C, unless another app has it.
void CSTakeShortcut(void);
