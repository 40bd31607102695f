// The login item of the app, by SMAppService of macOS 13.

// CSLoginItemStatus returns its SMAppServiceStatus.
int CSLoginItemStatus(void);

// CSLoginItemSet registers it, or takes it away. It returns 0 if that failed.
int CSLoginItemSet(int on);
