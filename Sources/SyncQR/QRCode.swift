import CSyncQR

/// A QR code (ISO/IEC 18004), which a camera reads as a link.
package struct QRCode: Hashable, Sendable {
    /// Light modules around it (ISO/IEC 18004, 7.3.2).
    private static let quietZone = 4

    /// Modules on each side, with the quiet zone.
    package let side: Int
    private let dark: Set<Int>

    /// - Returns: `nil` for a text that is empty or too long for a code (2,331 bytes), or where memory is short.
    package init?(_ text: String) {
        var modules = [UInt8](repeating: 0, count: CSyncQR_MostModules)
        let bytes = Array(text.utf8)
        let width = bytes.withUnsafeBufferPointer { bytes in
            modules.withUnsafeMutableBufferPointer { modules -> Int in
                guard let text = bytes.baseAddress, let first = modules.baseAddress else { return 0 }
                return Int(CSyncQR_Encode(text, bytes.count, first, modules.count))
            }
        }
        guard width > 0 else { return nil }
        let side = width + 2 * Self.quietZone
        self.side = side
        var dark: Set<Int> = []
        for row in 0..<width {
            for column in 0..<width where modules[row * width + column] == 1 {
                dark.insert((row + Self.quietZone) * side + column + Self.quietZone)
            }
        }
        self.dark = dark
    }

    /// Whether a module is dark. Outside of the code none is.
    package func isDark(row: Int, column: Int) -> Bool {
        (0..<side).contains(row) && (0..<side).contains(column) && dark.contains(row * side + column)
    }

    /// Lines for a terminal, two rows of modules in each. Light modules are drawn, as most terminals are dark; where a terminal
    /// is light, cameras read the inverse, too.
    package var lines: [String] {
        stride(from: 0, to: side, by: 2).map { row in
            (0..<side).map { column in
                // Below the last row there is nothing to draw.
                switch (isDark(row: row, column: column), row + 1 >= side || isDark(row: row + 1, column: column)) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }.joined()
        }
    }

    /// The dark modules as the `d` of an SVG path (SVG 2, 9.3), one unit for a module.
    package var path: String {
        dark.sorted().map { "M\($0 % side) \($0 / side)h1v1h-1z" }.joined()
    }
}
