#import <Foundation/Foundation.h>
#include <dlfcn.h>

#include "responsible_darwin.h"

// The call is in libSystem and in no header.
typedef int (*responsibleFor)(int pid);

int CSResponsibleFor(int pid) {
	responsibleFor ask = (responsibleFor)dlsym(RTLD_DEFAULT, "responsibility_get_pid_responsible_for_pid");
	return ask == NULL ? -1 : ask(pid);
}
