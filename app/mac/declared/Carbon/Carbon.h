#pragma once
#include <Foundation/Foundation.h>

typedef uint32_t UInt32;
typedef uint16_t EventModifiers;
typedef UInt32 OSType, OptionBits;
typedef unsigned long ItemCount;
typedef struct OpaqueEventRef *EventRef;
typedef struct OpaqueEventHandlerCallRef *EventHandlerCallRef;
typedef struct OpaqueEventHandlerRef *EventHandlerRef;
typedef struct OpaqueEventTargetRef *EventTargetRef;
typedef struct OpaqueEventHotKeyRef *EventHotKeyRef;
typedef OSStatus (*EventHandlerUPP)(EventHandlerCallRef next, EventRef event, void *data);
typedef struct EventTypeSpec { OSType eventClass; UInt32 eventKind; } EventTypeSpec;
typedef struct EventHotKeyID { OSType signature; UInt32 id; } EventHotKeyID;

enum { noErr = 0 };
enum : UInt32 { kCoreEventClass = 'aevt', kAEReopenApplication = 'rapp', kAEQuitApplication = 'quit' };
enum { kEventClassKeyboard = 'keyb', kEventHotKeyPressed = 5 };
enum { cmdKey = 1 << 8, optionKey = 1 << 11, controlKey = 1 << 12 };
enum { kVK_ANSI_C = 0x08 };

EventTargetRef GetApplicationEventTarget(void);
OSStatus InstallEventHandler(EventTargetRef target, EventHandlerUPP handler, ItemCount count, const EventTypeSpec *list, void *data, EventHandlerRef *ref);
#define InstallApplicationEventHandler(h, numTypes, list, userData, outHandlerRef) InstallEventHandler(GetApplicationEventTarget(), (h), (numTypes), (list), (userData), (outHandlerRef))
OSStatus RegisterEventHotKey(UInt32 code, UInt32 modifiers, EventHotKeyID identifier, EventTargetRef target, OptionBits options, EventHotKeyRef *ref);
