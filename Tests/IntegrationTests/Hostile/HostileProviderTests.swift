import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// A destination that means ill: what it answers may cost the publisher neither memory nor an event, and
  /// leads it nowhere else.
  @Suite(.enabled(if: HostilePeer.isThere, "needs python3"))
  struct HostileProviderTests {
    /// Plays one hostile answer after another, each followed by a right one, and says the ids that it took
    /// with a right one.
    private static let provider = """
      import json, threading
      trap = socket.create_server(('127.0.0.1', 0))
      def guard():
          while True: trap.accept(); say('lured')
      threading.Thread(target=guard, daemon=True).start()
      elsewhere = b'http://127.0.0.1:%d/' % trap.getsockname()[1]
      def answer(status, headers=b'', body=b'{"success":true}'):
          return b'HTTP/1.1 %s\\r\\n' % status + headers + b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body
      def packed(size):
          squeezer = zlib.compressobj(9, zlib.DEFLATED, 31)
          return b''.join(squeezer.compress(b' ' * (1 << 20)) for piece in range(size >> 20)) + squeezer.flush()
      def endless(head, piece):
          yield head
          while True: yield piece
      ok, chunked = b'HTTP/1.1 200 OK\\r\\n', b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n'
      bomb = packed(256 << 20)
      hostile = {
          'endless headers': lambda: endless(ok, b'X-Y: ' + b'z' * 1000 + b'\\r\\n'),
          'endless header': lambda: endless(ok + b'X: ', b'x' * 65536),
          'endless line': lambda: endless(b'HTTP/1.1 ', b'2' * 65536),
          'endless body': lambda: endless(ok + b'\\r\\n', b'x' * 65536),
          'endless length': lambda: endless(ok + b'Content-Length: 9223372036854775807\\r\\n\\r\\n', b'x' * 65536),
          'endless chunks': lambda: endless(chunked, b'10000\\r\\n' + b'x' * 65536 + b'\\r\\n'),
          'endless trailers': lambda: endless(chunked + b'0\\r\\n', b'X: y\\r\\n' * 1000),
          'endless 1xx': lambda: endless(b'', b'HTTP/1.1 102 Processing\\r\\nX: y\\r\\n\\r\\n'),
          'bomb': lambda: [answer(b'200 OK', b'Content-Encoding: gzip\\r\\n', bomb)],
          'bombs in a refusal': lambda: [answer(b'500 No', b'Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip\\r\\n', bomb)],
          'broken gzip': lambda: [answer(b'200 OK', b'Content-Encoding: gzip\\r\\n', b'\\x1f\\x8b\\x08\\0\\0\\0\\0\\0\\0\\3' + b'\\x07' * 200)],
          'redirect elsewhere': lambda: [answer(b'307 Go', b'Location: ' + elsewhere + b'\\r\\n')],
          'redirect to a file': lambda: [answer(b'302 Go', b'Location: file:///etc/passwd\\r\\n')],
          'redirect to itself': lambda: [answer(b'308 Go', b'Location: /v1/batch\\r\\n')],
          'chunk': lambda: [chunked + b'FFFFFFFFFFFFFFFFFF\\r\\nx'], 'chunk minus': lambda: [chunked + b'-5\\r\\nx\\r\\n'],
          'chunk text': lambda: [chunked + b'zz\\r\\nx\\r\\n'], 'less': lambda: [ok + b'Content-Length: 100\\r\\n\\r\\nless'],
          'nothing': lambda: [],
          'garbage': lambda: [os.urandom(5000)],
          'page': lambda: [answer(b'200 OK', b'Content-Type: text/html\\r\\n', b'<html>' + b'\\x1b[31m' * 100)],
          'redirect nowhere': lambda: [answer(b'301 Go')],
          'redirect of protocol': lambda: [answer(b'101 Switching Protocols', b'Upgrade: h2c\\r\\nConnection: Upgrade\\r\\n')],
          'early': None,
          'length minus': lambda: [ok + b'Content-Length: -5\\r\\n\\r\\nhello'],
          'length text': lambda: [ok + b'Content-Length: five\\r\\n\\r\\nhello'],
          'other packing': lambda: [answer(b'200 OK', b'Content-Encoding: compress\\r\\n')],
          'half a head': lambda: [b'HTTP/1.1 2'],
          'wait for ever': lambda: [answer(b'429 No', b'Retry-After: -1\\r\\n')],
          'control': lambda: [answer(b'503 \\x1b]0;owned\\x07', b'Retry-After: 0\\r\\nX: \\x1b[2J\\r\\n', b'\\x1b[2J\\x00\\xff' * 100)],
          'reset': None,
      }
      # Odd, and a delivery all the same: the event is not sent again.
      odd = {
          'hints': b'HTTP/1.1 103 Early Hints\\r\\nLink: </x>\\r\\n\\r\\nHTTP/1.1 100 Continue\\r\\n\\r\\n' + answer(b'200 OK'),
          'no content with a body': b'HTTP/1.1 204 No Content\\r\\nContent-Length: 5\\r\\n\\r\\nhello',
          'old': b'HTTP/1.0 200 OK\\r\\n\\r\\n{"success":true}', 'bare feeds': b'HTTP/1.1 200 OK\\nContent-Length: 2\\n\\nok',
          'no reason': b'HTTP/1.1 200\\r\\nContent-Length: 0\\r\\n\\r\\n',
          # The second answer must not become that of the next request.
          'two answers': answer(b'200 OK') * 2, 'more than its length': b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok' + answer(b'200 OK'),
          'last': answer(b'200 OK'),
      }
      hostile.update({name: None for name in odd})
      # A success by its status; what else it says cannot be read, now or ever. A delivery too.
      unreadable = {'endless body', 'endless length', 'endless chunks', 'bomb', 'broken gzip', 'other packing'}
      server = socket.create_server(('127.0.0.1', 0)); say('port', server.getsockname()[1])
      early = lambda: turn < len(plan) and plan[turn] == 'early'
      plan = [name for one in hostile for name in (one, None)] + [None] * 10 ** 6
      taken, turn, pending = [], 0, b''
      def request(peer):
          got = b''
          while b'\\r\\n\\r\\n' not in got:
              more = peer.recv(65536)
              if not more: return None
              got += more
          head, body = got.split(b'\\r\\n\\r\\n', 1)
          size = next(int(line.split(b':')[1]) for line in head.split(b'\\r\\n') if line.lower().startswith(b'content-length'))
          body += exactly(peer, size - len(body)) if len(body) < size else b''
          if b'gzip' in head.lower(): body = zlib.decompress(body, 31)
          return [event['messageId'] for event in json.loads(body)['batch']]
      while True:
          peer = server.accept()[0]; peer.settimeout(20)
          try:
              if early():
                  # Before a byte of the request is read.
                  turn += 1; say('plays', 'early'); peer.sendall(answer(b'500 No')); peer.close(); continue
              while True:
                  if early(): break
                  ids = request(peer)
                  if ids is None: break
                  name, turn = plan[turn], turn + 1
                  if name is None:
                      peer.sendall(answer(b'200 OK'))
                      for id in ids: say('took', id)
                      continue
                  if name in odd:
                      say('plays', name); peer.sendall(odd[name])
                      for id in ids: say('took', id)
                      if name not in ('two answers', 'more than its length'): break
                      if request(peer) is not None: say('smuggled', name)
                      break
                  if name == 'reset':
                      peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); break
                  say('plays', name)
                  if name in unreadable:
                      for id in ids: say('took', id)
                  sent = 0
                  for piece in hostile[name]():
                      peer.sendall(piece); sent += len(piece)
                      # A publisher that reads so much is lost: the test must see that, not wait.
                      if sent > 200 << 20: say('swallowed', name); break
                  break
          except OSError: pass
          peer.close()
      """

    @Test func `whatever a provider answers, every event arrives, and memory stays`() throws {
      let broker = try TestBroker()
      let provider = try HostilePeer(Self.provider, [])
      let port = try provider.line("port").dropFirst(5)
      let publisher = try TestPublisher("segment", "http://127.0.0.1:\(port)", broker)
      let before = publisher.memory
      var peak = 0
      var count = 0
      let plays = { provider.process.output.lines.filter { $0.hasPrefix("plays ") } }
      // Each event is a request of its own, so that each answer is met.
      while !provider.process.output.text.contains("plays last\n"), count < 200 {
        // Before the event is there: its answer may come before its producer has ended.
        let was = plays().count
        let run = try broker.publish(
          lines: [EventLine.track("A", id: "e-\(count)", properties: "{\"n\":\(count)}")])
        #expect(run.status == .exited(0), "\(run.errors)")
        let id = "took e-\(count)"
        // A redirect is for a person to see, and is not tried again for minutes.
        #expect(waitUntil { plays().count > was || provider.process.output.lines.contains(id) })
        if plays().last?.hasPrefix("plays redirect") == true,
          !provider.process.output.lines.contains(id)
        {
          #expect(publisher.waitForError { $0.contains("check the key and the address") })
          publisher.kill()
          try publisher.start()
        }
        let isTaken = waitUntil(.seconds(60)) {
          peak = max(peak, publisher.memory)
          return provider.process.output.lines.contains(id)
        }
        try #require(isTaken, "\(id): \(provider.errors)\n\(publisher.errors.suffix(2000))")
        count += 1
      }
      let lines = provider.process.output.lines
      #expect(lines.count { $0.hasPrefix("plays ") } >= 34, "\(lines)")
      // A success with a strange head, or without a body, is one too: its event is not sent again.
      let taken = lines.filter { $0.hasPrefix("took ") }
      #expect(Set(taken).count == count)
      #expect(taken.count == count, "\(taken)")
      #expect(!lines.contains("lured"), "it followed a redirect")
      #expect(!lines.contains { $0.hasPrefix("smuggled ") }, "\(lines)")
      #expect(!lines.contains { $0.hasPrefix("swallowed ") }, "\(lines)")
      #expect(
        peak < before + (64 << 10) || Sanitizer.excusesMemory(), "\(before) to \(peak) KiB")
      let told = publisher.errors
      #expect(told.contains("retrying") || told.contains("next try"), "\(told)")
      #expect(!told.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" }, "\(told)")
      #expect(publisher.stop() == .exited(0), "\(publisher.errors)")
      provider.process.signal(SIGKILL)
    }
  }
}
