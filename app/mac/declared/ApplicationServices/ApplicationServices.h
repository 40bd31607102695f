#pragma once
#include <Foundation/Foundation.h>

enum { typeWildCard = '****' };
OSStatus AEDeterminePermissionToAutomateTarget(const AEDesc *target, AEEventClass eventClass, AEEventID eventID, Boolean askUserIfNeeded);

extern CFStringRef kAXTrustedCheckOptionPrompt;
Boolean AXIsProcessTrusted(void);
Boolean AXIsProcessTrustedWithOptions(CFDictionaryRef options);

bool CGPreflightScreenCaptureAccess(void);
bool CGRequestScreenCaptureAccess(void);
bool CGPreflightListenEventAccess(void);
bool CGRequestListenEventAccess(void);
bool CGPreflightPostEventAccess(void);
bool CGRequestPostEventAccess(void);
