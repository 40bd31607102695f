#pragma once
#include <Foundation/Foundation.h>

enum : uint32_t { typeWildCard = '****' };
typedef AEDesc AEAddressDesc;
OSStatus AEDeterminePermissionToAutomateTarget(const AEAddressDesc *target, AEEventClass eventClass, AEEventID eventID, Boolean askUserIfNeeded) SINCE(10.14);

extern CFStringRef kAXTrustedCheckOptionPrompt SINCE(10.9);
Boolean AXIsProcessTrusted(void) SINCE(10.4);
Boolean AXIsProcessTrustedWithOptions(CFDictionaryRef options) SINCE(10.9);

bool CGPreflightScreenCaptureAccess(void) SINCE(10.15);
bool CGRequestScreenCaptureAccess(void) SINCE(10.15);
bool CGPreflightListenEventAccess(void) SINCE(10.15);
bool CGRequestListenEventAccess(void) SINCE(10.15);
bool CGPreflightPostEventAccess(void) SINCE(10.15);
bool CGRequestPostEventAccess(void) SINCE(10.15);
