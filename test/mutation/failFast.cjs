const { rmSync } = require('node:fs');
const { TestEnvironment } = require('jest-environment-node');

/** Skips the rest of a file once a test in it has failed: for a mutant, one failure is the verdict. */
module.exports = class FailFast extends TestEnvironment {
	hasFailed = false;

	async handleTestEvent(event) {
		if (event.name === 'test_start' && this.hasFailed) event.test.mode = 'skip';
		if (event.name === 'test_done' && event.test.errors.length > 0) this.hasFailed = true;
	}

	// Where all tests of a file are skipped jest calls no afterAll, and the engine's folder stays.
	async teardown() {
		const folder = this.global.process?.env.N8N_USER_FOLDER ?? '';
		if (folder.includes('digital-sales-engine-')) rmSync(folder, { recursive: true, force: true });
		await super.teardown();
	}
};
