const { default: Sequencer } = require('@jest/test-sequencer');

/** Runs the unit tests before those that load n8n's engine: most mutants fall within a second. */
module.exports = class UnitFirst extends Sequencer {
	sort(tests) {
		return [...tests].sort((a, b) => rank(a) - rank(b));
	}
};

const rank = ({ path }) => (path.endsWith('unit.test.ts') ? 0 : 1);
