package ipc

import "net"

// forget takes a connection off the list.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// forOurs is how many connections one process of our programs may have: a node
// service uses one for each command of a gateway.
func (s *Server) forOurs() int { return s.maxConns - 2*s.reserved }

// room reports whether there is a place for a connection. taking is
// locked, so the answer holds until it is added.
func (s *Server) room(nc *net.UnixConn) bool {
	s.mu.Lock()
	free := s.maxConns - len(s.conns)
	s.mu.Unlock()
	return free > s.reserved || free > 0 && s.mayOperate(nc) || s.makeRoom()
}

// mayOperate is for those who could operate: our own program asks as well.
func (s *Server) mayOperate(nc *net.UnixConn) bool {
	who, err := s.peerOf(nc)
	if err != nil || who.uid != s.uid {
		return false
	}
	peer, err := s.look(who)
	return err == nil && s.door.MayOperate(peer) == nil
}

// makeRoom ends a connection on which nothing waits, if there is one: who keeps
// many and says nothing keeps nobody else out.
func (s *Server) makeRoom() bool {
	idle := s.callers.idlest()
	if idle == nil {
		return false
	}
	s.mu.Lock()
	delete(s.conns, idle)
	s.mu.Unlock()
	idle.kill()
	return true
}

// add counts one more connection, unless the server stops.
func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.conns[c] = struct{}{}
		s.done.Add(1)
	}
	return !s.closed
}
