import { say } from '../../host/n8n/terminal';
import { contact } from './contact';
import { realClock } from './service';

const NOTICE_WITHIN_MS = 900_000;

function enough(): AbortSignal {
	const stop = new AbortController();
	process.once('SIGINT', () => stop.abort());
	setTimeout(() => stop.abort(), NOTICE_WITHIN_MS).unref();
	return stop.signal;
}

contact({ args: process.argv.slice(2), environment: process.env, say, clock: realClock, enough })
	.then((code) => {
		process.exitCode = code;
	})
	.catch((error: unknown) => {
		// The message of an unforeseen error may quote what was sent.
		say(`This failed unexpectedly (${error instanceof Error ? error.name : 'no error'}).`);
		process.exitCode = 1;
	});
