const { TestEnvironment } = require('jest-environment-node');

/** Skips the rest of a file once a test in it has failed: for a mutant, one failure is the verdict. */
module.exports = class FailFast extends TestEnvironment {
	hasFailed = false;

	async handleTestEvent(event) {
		if (event.name === 'test_start' && this.hasFailed) event.test.mode = 'skip';
		if (event.name === 'test_done' && event.test.errors.length > 0) this.hasFailed = true;
	}
};
