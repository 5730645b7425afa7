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

/** Whether the system has a Chromium; nothing is installed from here. */
export const hasChromium = existsSync(EXECUTABLE);

/**
 * Starts the Chromium of the system without a window.
 *
 * @param slowMo milliseconds between two steps, for somebody who watches
 * @throws Error that says what to install if there is none
 */
export async function openBrowser({ slowMo = 0 } = {}): Promise<Browser> {
	if (!hasChromium) {
		throw new Error(
			`This needs Chromium, and there is none at ${EXECUTABLE}. Install it (Debian: apt-get install chromium), or set CHROMIUM to the path of its program.`,
		);
	}
	return await chromium.launch({
		executablePath: EXECUTABLE,
		args: ARGUMENTS,
		slowMo,
		// Its own handlers would end this process before everything else is cleaned up.
		handleSIGINT: false,
		handleSIGTERM: false,
		handleSIGHUP: false,
	});
}
