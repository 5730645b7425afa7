const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Runs unit tests before those that load n8n's engine. Where one failure is enough, as it is for a
 * mutant, most runs then end within a second.
 */
module.exports = class UnitFirst extends Sequencer {
	sort(tests) {
		const rank = ({ path }) => (path.includes('/test/unit/') ? 0 : 1);
		return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
	}
};
