// The window of the app as macOS shows it. There may be none yet.

// CSOrderFront puts the window in front of others on every space, over apps
// that fill the screen too, and leaves the keyboard where it is. It returns at
// once.
void CSOrderFront(void);

// CSTakeKeyboard gives the window the keyboard. It returns at once.
void CSTakeKeyboard(void);

// CSGiveBack gives the keyboard to the app that had it before, if the window is
// out of sight. It returns at once.
void CSGiveBack(void);

// CSLiveInMenuBar makes this an app of the menu bar. It is for the main thread,
// before the app runs.
void CSLiveInMenuBar(void);

// CSStayAwake keeps macOS from slowing the app down while nobody sees it, or
// lets it. It returns at once.
void CSStayAwake(int awake);

// CSAlert shows an alert and waits until it is closed. It is for the main
// thread of an app that does not run.
void CSAlert(const char *title, const char *message);

// CSInView tells whether a person could see a part of the window: -1 where the
// main thread does not say so in time, because the app ends.
int CSInView(void);

// CSSettle has the window stay on its space again. It returns at once.
void CSSettle(void);
