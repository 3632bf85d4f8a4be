internal import CMicroHTTPD

// libmicrohttpd's two callbacks. The first argument is the service, which the server keeps alive; the
// request's context is a retained `Exchange`, released when the request is completed.

/// Called once when the headers are there, once for each piece of the body, and once at its end.
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
      method: unsafe String(cString: method), path: unsafe String(cString: path))
    unsafe context.pointee = Unmanaged.passRetained(exchange).toOpaque()
    return unsafe owner.begin(exchange, on: connection)
  }
  let exchange = unsafe Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
  guard unsafe pieceCount.pointee > 0 else {
    return unsafe owner.answer(exchange, on: connection)
  }
  let bytes = unsafe UnsafeRawBufferPointer(start: piece, count: pieceCount.pointee)
  unsafe pieceCount.pointee = 0
  return unsafe exchange.take(bytes) ? .YES : .NO
}

/// Called once for each request that `handleRequest` saw, answered or cut.
func endRequest(
  _ service: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let service = unsafe service, let context = unsafe context,
    let known = unsafe context.pointee
  else { return }
  unsafe Unmanaged<Exchange>.fromOpaque(known).release()
  unsafe context.pointee = nil
  unsafe Unmanaged<HTTPService>.fromOpaque(service).takeUnretainedValue().end()
}
