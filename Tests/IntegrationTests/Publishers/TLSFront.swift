import Foundation
import TestSupport
import Testing

/// TLS before a pretended provider: a process that passes on what comes, with a certificate made for it.
final class TLSFront {
  let folder: TemporaryFolder
  private let process: ChildProcess
  private let port: Int

  var url: String { "https://localhost:\(port)" }
  var certificate: String { folder.file("certificate.pem") }

  /// - Parameter days: until the certificate ends; negative: it has ended.
  init(before target: UInt16, days: Int) throws {
    folder = try TemporaryFolder()
    let (key, request, extensions) = (
      folder.file("key.pem"), folder.file("request.pem"), folder.file("extensions")
    )
    try "subjectAltName=DNS:localhost,IP:127.0.0.1\n".write(
      toFile: extensions, atomically: true, encoding: .utf8)
    try Self.openssl([
      "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
      "-out", request, "-subj", "/CN=localhost",
    ])
    try Self.openssl([
      "x509", "-req", "-in", request, "-signkey", key, "-days", "\(days)", "-extfile", extensions,
      "-out", folder.file("certificate.pem"),
    ])
    process = try ChildProcess(
      ClientLibraries.python,
      ["-c", Self.program, folder.file("certificate.pem"), key, "\(target)"])
    port = try #require(process.output.waitForLine { _ in true }.flatMap { Int($0) })
  }

  private static func openssl(_ arguments: [String]) throws {
    let run = try ChildProcess.run("openssl", arguments)
    try #require(run.status == .exited(0), "\(String(decoding: run.errorOutput, as: UTF8.self))")
  }

  private static let program = """
    import socket, ssl, sys, threading
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    listening = socket.create_server(('127.0.0.1', 0))
    print(listening.getsockname()[1], flush=True)
    def copy(source, target):
        try:
            while data := source.recv(65536): target.sendall(data)
        except OSError: pass
        for one in (source, target):
            try: one.shutdown(socket.SHUT_RDWR)
            except OSError: pass
    def serve(plain):
        try: outer = context.wrap_socket(plain, server_side=True)
        except OSError: return
        inner = socket.create_connection(('127.0.0.1', int(sys.argv[3])))
        threading.Thread(target=copy, args=(inner, outer), daemon=True).start()
        copy(outer, inner)
    while True:
        plain, _ = listening.accept()
        threading.Thread(target=serve, args=(plain,), daemon=True).start()
    """
}
