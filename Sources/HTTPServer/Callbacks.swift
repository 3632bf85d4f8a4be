internal import CMicroHTTPD

// libmicrohttpd's callbacks. The first argument is the service, which the server keeps alive; the
// request's context is a retained `Exchange`, released when the request is completed.

/// Called once when the headers are there, once for each piece of the body, once at its end, and once
/// more when a suspended connection has its answer.
func handleRequest(
  _ service: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
  _ piece: UnsafePointer<CChar>?, _ pieceCount: UnsafeMutablePointer<Int>?,
  _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let service = unsafe service, let connection = unsafe connection,
    let path = unsafe path, let method = unsafe method,
    let pieceCount = unsafe pieceCount, let context = unsafe context
  else { return .NO }
  let owner = unsafe Unmanaged<HTTPService>.fromOpaque(service).takeUnretainedValue()
  guard let known = unsafe context.pointee else {
    let exchange = owner.exchange(
      method: unsafe String(cString: method),
      path: unsafe HTTPRequest.path(ofTarget: String(cString: path)),
      descriptor: unsafe eb_connection_descriptor(connection),
      connection: UInt(bitPattern: connection))
    unsafe context.pointee = Unmanaged.passRetained(exchange).toOpaque()
    return unsafe owner.begin(exchange, on: connection)
  }
  let exchange = unsafe Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
  guard unsafe pieceCount.pointee > 0 else {
    return unsafe owner.proceed(exchange, on: connection)
  }
  let bytes = unsafe UnsafeRawBufferPointer(start: piece, count: pieceCount.pointee)
  unsafe pieceCount.pointee = 0
  return unsafe owner.take(bytes, of: exchange) ? .YES : .NO
}

/// Called once for each request that `handleRequest` saw, answered or cut.
func endRequest(
  _ service: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let service = unsafe service, let context = unsafe context,
    let known = unsafe context.pointee
  else { return }
  let exchange = unsafe Unmanaged<Exchange>.fromOpaque(known)
  unsafe Unmanaged<HTTPService>.fromOpaque(service).takeUnretainedValue()
    .end(exchange.takeUnretainedValue())
  unsafe exchange.release()
  unsafe context.pointee = nil
}

/// Called when a connection was accepted, and before its socket is closed.
func noteConnection(
  _ service: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ code: MHD_ConnectionNotificationCode
) {
  guard let service = unsafe service, let connection = unsafe connection else { return }
  let clock = unsafe Unmanaged<HTTPService>.fromOpaque(service).takeUnretainedValue().clock
  let descriptor = unsafe eb_connection_descriptor(connection)
  if code == .CONNECTION_NOTIFY_STARTED {
    clock.opened(descriptor)
  } else {
    clock.closed(descriptor)
  }
}
