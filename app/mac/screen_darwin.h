// Whether the person is in front of the screen.

// CSScreenState tells how it is: 1 if it is locked, 2 more if another user's
// session is shown.
int CSScreenState(void);

// CSWatchScreen calls CSScreenHeard for all that happens to it from now on.
void CSWatchScreen(void);
