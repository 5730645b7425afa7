import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../helpers/n8n/terminal';
import { contact } from './contact';

contact({
	args: process.argv.slice(2),
	environment: process.env,
	say,
	sleep: async (ms) => await pause(ms),
	noticeWithinMs: 900_000,
})
	.then((isComplete) => {
		process.exitCode = isComplete ? 0 : 1;
	})
	.catch((error: unknown) => {
		// The message of an unforeseen error may quote what was sent.
		say(`This failed unexpectedly (${error instanceof Error ? error.name : 'no error'}).`);
		process.exitCode = 1;
	});
