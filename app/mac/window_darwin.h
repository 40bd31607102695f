// The window of the app as macOS shows it.

// CSOrderFront puts the window in front of others on every space, over apps
// that fill the screen too, and leaves the keyboard where it is. It returns at
// once; there may be no window yet.
void CSOrderFront(void);
