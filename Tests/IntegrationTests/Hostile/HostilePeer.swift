import Foundation
import TestSupport
import Testing

/// A program in Python, without libraries, that speaks ZMTP and HTTP by hand: as wrongly as it likes.
struct HostilePeer {
  static let isThere = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

  let process: ChildProcess

  init(_ program: String, _ arguments: [Any]) throws {
    process = try ChildProcess(
      "/usr/bin/python3", ["-c", Self.start + program] + arguments.map { "\($0)" })
  }

  var errors: String { process.errorOutput.text }

  /// What it says with `say`, once it begins so.
  func line(_ beginning: String, _ limit: Duration = .seconds(60)) throws -> String {
    try #require(
      process.output.waitForLine(limit) { $0.hasPrefix(beginning) }, "no '\(beginning)': \(errors)")
  }

  /// Lets go of everything it holds.
  func end() {
    process.closeInput()
    #expect(process.wait(.seconds(60)) == .exited(0), "\(errors)")
  }

  private static let start = """
    import os, random, select, socket, struct, sys, time, zlib
    chance = random.Random(7)
    def say(*words): print(*words, flush=True)
    def hold(): sys.stdin.read()
    def tcp(port, patience=20):
        peer = socket.create_connection(('127.0.0.1', int(port)), patience); peer.settimeout(patience)
        return peer
    def frame(body, flags=0):
        return bytes([flags, len(body)]) + body if len(body) < 256 else struct.pack('>BQ', flags | 2, len(body)) + body
    def exactly(peer, count):
        got = b''
        while len(got) < count:
            more = peer.recv(count - len(got))
            if not more: raise OSError('closed')
            got += more
        return got
    def zmtp(port, kind, patience=20):
        peer = tcp(port, patience)
        peer.sendall(b'\\xff' + b'\\0' * 8 + b'\\x7f\\x03\\0NULL' + b'\\0' * 48)
        exactly(peer, 64)
        kind = kind.encode()
        peer.sendall(frame(b'\\x05READY\\x0bSocket-Type' + struct.pack('>I', len(kind)) + kind, 4))
        size = exactly(peer, 2)[1]; exactly(peer, size)
        return peer
    def is_cut(peer, patience):
        'Whether the other side ends the connection in time; what it says before is read away.'
        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                if select.select([peer], [], [], 0.2)[0] and not peer.recv(65536): return True
            except OSError: return True
        return False

    """
}
