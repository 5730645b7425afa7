import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGUMENTS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/**
 * Starts the Chromium of the system without a window.
 *
 * @throws Error that says what to install if there is none
 */
export async function openBrowser(): Promise<Browser> {
	if (!existsSync(EXECUTABLE)) {
		throw new Error(
			`This needs Chromium, and there is none at ${EXECUTABLE}. Install it (Debian: apt-get install chromium), or set CHROMIUM to the path of its program.`,
		);
	}
	return await chromium.launch({
		executablePath: EXECUTABLE,
		args: ARGUMENTS,
		// Its own handlers would end this process before everything else is cleaned up.
		handleSIGINT: false,
		handleSIGTERM: false,
		handleSIGHUP: false,
	});
}
