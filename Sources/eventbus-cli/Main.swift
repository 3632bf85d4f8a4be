@main
enum EventbusCommand {
  static func main() {}
}
