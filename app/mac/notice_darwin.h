// Notifications and the global shortcut. All of these return at once.

// CSNotify shows a notification.
void CSNotify(const char *name, const char *title, const char *body);

// CSUnnotify takes it away.
void CSUnnotify(const char *name);

// CSTakeShortcut takes ⌃⌥⌘C, unless another app has it.
void CSTakeShortcut(void);
