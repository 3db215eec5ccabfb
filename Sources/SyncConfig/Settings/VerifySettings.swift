/// How much of what is stored is read back by the agent itself.
package struct VerifySettings: Hashable, Sendable {
    /// Of all objects; 0 for none.
    package var percentPerDay: Double
    /// US dollars, where reading is billed.
    package var maximumUSDPerMonth: Double
}

extension VerifySettings {
    init(from reader: inout SettingsReader) {
        percentPerDay = reader.value(ConfigKeys.verifyPercent)
        maximumUSDPerMonth = reader.value(ConfigKeys.verifyBudget)
    }
}
