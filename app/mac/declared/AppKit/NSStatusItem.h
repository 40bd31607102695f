// The status item and its menu, which AppKit.h includes.
#pragma once

@interface NSImageRep : NSObject
@property NSSize size;
@end

@interface NSBitmapImageRep : NSImageRep
+ (instancetype)imageRepWithData:(NSData *)data;
@end

@interface NSImage : NSObject
- (instancetype)initWithSize:(NSSize)size;
- (void)addRepresentation:(NSImageRep *)picture;
@property(getter=isTemplate) BOOL template SINCE(10.5);
@end

typedef NSInteger NSControlStateValue;
static const NSControlStateValue NSControlStateValueOff = 0, NSControlStateValueOn = 1;

@class NSMenu;

@interface NSMenuItem : NSObject
+ (NSMenuItem *)separatorItem;
- (instancetype)initWithTitle:(NSString *)title action:(SEL)action keyEquivalent:(NSString *)key;
@property(strong) NSMenu *submenu;
@property(copy) NSString *title;
@property(readonly, getter=isSeparatorItem) BOOL separatorItem;
@property NSControlStateValue state;
@property(getter=isEnabled) BOOL enabled;
@property(weak) id target;
@property SEL action;
@property NSInteger tag;
@end

@protocol NSMenuDelegate <NSObject>
@optional
- (void)menuWillOpen:(NSMenu *)menu SINCE(10.5);
- (void)menuDidClose:(NSMenu *)menu SINCE(10.5);
@end

@interface NSMenu : NSObject
- (void)addItem:(NSMenuItem *)item;
- (void)removeAllItems SINCE(10.6);
@property BOOL autoenablesItems;
@property(weak) id<NSMenuDelegate> delegate;
@end

@interface NSView : NSResponder
@property(copy) NSString *toolTip;
@property(copy) NSString *accessibilityLabel SINCE(10.10);
@end

@interface NSControl : NSView
@end

typedef NS_ENUM(NSUInteger, NSCellImagePosition) { NSImageOnly = 1, NSImageLeading SINCE(10.12) = 7 };

@interface NSButton : NSControl
@property(copy) NSString *title;
@property(strong) NSImage *image;
@property NSCellImagePosition imagePosition;
@end

SINCE(10.10) @interface NSStatusBarButton : NSButton
@property BOOL appearsDisabled;
@end

@interface NSStatusItem : NSObject
@property(strong) NSMenu *menu;
@property(readonly, strong) NSStatusBarButton *button SINCE(10.10);
@property(copy) NSString *autosaveName SINCE(10.12);
@end

static const CGFloat NSVariableStatusItemLength = -1.0;

@interface NSStatusBar : NSObject
@property(class, readonly, strong) NSStatusBar *systemStatusBar;
- (NSStatusItem *)statusItemWithLength:(CGFloat)length;
@end
