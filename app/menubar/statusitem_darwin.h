// The status item and its menu as AppKit has them. All of it is for the main
// queue. Texts are UTF-8 and belong to the caller.

// CSBarPicture gives one more size of a picture, a PNG, by its number. It
// returns 0 for one that cannot be read.
int CSBarPicture(int number, const void *png, int size);

// CSBarMake makes the item, with an empty menu. It returns 0 where the menu bar
// has no room.
int CSBarMake(void);

// CSBarButton says what the item shows beside its menu.
void CSBarButton(int picture, const char *title, const char *tooltip, int dim);

// CSBarClear takes all rows out.
void CSBarClear(void);

// CSBarAdd adds a row: depth 0 is the menu itself, and each further one belongs
// to the row before it that opens. Its tag comes back with a press.
void CSBarAdd(int depth, int tag, const char *title, const char *key, int separator, int opens);

// CSBarWrite says what a row shows, by its place among all that were added; -1
// is the last one.
void CSBarWrite(int place, const char *title, int enabled, int checked);
