// CSResponsibleFor returns the process that macOS holds responsible for another
// one, as it does for privacy: -1 where it does not tell.
int CSResponsibleFor(int pid);
