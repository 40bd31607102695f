#import <AppKit/AppKit.h>

#include "statusitem_darwin.h"

// In Go.
extern void CSBarPressed(int tag);
extern void CSBarOpened(void);
extern void CSBarClosed(void);

// Points, and how deep rows can open others.
enum { itemSize = 16, pictureCount = 3, maxDepth = 8 };

@interface CSMenuTarget : NSObject <NSMenuDelegate>
@end

@implementation CSMenuTarget

- (void)pressed:(NSMenuItem *)row {
	CSBarPressed((int)row.tag);
}

- (void)menuWillOpen:(NSMenu *)menu {
	CSBarOpened();
}

// AppKit closes the menu first and tells what was pressed then. The run loop is
// in its usual mode again only after both.
- (void)menuDidClose:(NSMenu *)menu {
	[NSRunLoop.mainRunLoop performInModes:@[ NSDefaultRunLoopMode ] block:^{
		CSBarClosed();
	}];
}

@end

static CSMenuTarget *target;
static NSStatusItem *item;
static NSImage *pictures[pictureCount];
static NSMutableArray<NSMenuItem *> *rows;
static NSMenu *menus[maxDepth]; // to which rows are added, by depth

// text is never nil, at which AppKit would raise.
static NSString *text(const char *utf8) {
	NSString *s = [NSString stringWithUTF8String:utf8];
	return s != nil ? s : @"";
}

static NSMenu *emptyMenu(void) {
	NSMenu *menu = [NSMenu new];
	menu.autoenablesItems = NO;
	return menu;
}

int CSBarPicture(int number, const void *png, int size) {
	@autoreleasepool {
		NSBitmapImageRep *picture = [NSBitmapImageRep imageRepWithData:[NSData dataWithBytes:png length:(NSUInteger)size]];
		if (picture == nil || number < 0 || number >= pictureCount)
			return 0;
		picture.size = NSMakeSize(itemSize, itemSize);
		if (pictures[number] == nil) {
			pictures[number] = [[NSImage alloc] initWithSize:picture.size];
			pictures[number].template = YES;
		}
		[pictures[number] addRepresentation:picture];
		return 1;
	}
}

int CSBarMake(void) {
	@autoreleasepool {
		item = [NSStatusBar.systemStatusBar statusItemWithLength:NSVariableStatusItemLength];
		if (item.button == nil)
			return 0;
		item.autosaveName = @"app.countersign.statusitem"; // where a person dragged it to
		target = [CSMenuTarget new];
		rows = [NSMutableArray new];
		menus[0] = emptyMenu();
		menus[0].delegate = target;
		item.menu = menus[0];
		return 1;
	}
}

void CSBarButton(int picture, const char *title, const char *tooltip, int dim) {
	@autoreleasepool {
		NSStatusBarButton *button = item.button;
		button.image = pictures[picture];
		button.title = text(title);
		button.imagePosition = *title != 0 ? NSImageLeading : NSImageOnly;
		button.toolTip = text(tooltip);
		button.accessibilityLabel = text(tooltip);
		button.appearsDisabled = dim != 0;
	}
}

void CSBarClear(void) {
	[menus[0] removeAllItems];
	[rows removeAllObjects];
}

void CSBarAdd(int depth, int tag, const char *title, const char *key, int separator, int opens) {
	@autoreleasepool {
		if (depth < 0 || depth >= maxDepth - 1)
			return;
		NSMenuItem *row = separator ? [NSMenuItem separatorItem] : [[NSMenuItem alloc] initWithTitle:text(title) action:NULL keyEquivalent:text(key)];
		row.tag = tag;
		if (opens) {
			menus[depth + 1] = emptyMenu();
			row.submenu = menus[depth + 1];
		} else {
			row.target = target;
			row.action = @selector(pressed:);
		}
		[menus[depth] addItem:row];
		[rows addObject:row];
	}
}

void CSBarWrite(int place, const char *title, int enabled, int checked) {
	@autoreleasepool {
		NSMenuItem *row = place < 0 ? rows.lastObject : rows[(NSUInteger)place];
		if (row.separatorItem)
			return;
		row.title = text(title);
		row.enabled = enabled != 0;
		row.state = checked ? NSControlStateValueOn : NSControlStateValueOff;
	}
}
