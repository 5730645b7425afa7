import { useInbox } from '../support/inbox';

describe('Digital Sales Trigger: a notice that is a form with files', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	const headers = { 'content-type': 'multipart/form-data; boundary=x' };

	test.each([100, 300_000])('is refused, whatever it holds: %i bytes', async (bytes) => {
		const hash = await inbox.charge();
		await inbox.publish();
		const body = `--x\r\nContent-Disposition: form-data; name="hash"\r\n\r\n${hash}\r\n--x--${' '.repeat(bytes)}`;

		const { status } = await inbox.trigger.send({ headers, body });

		expect(status).toBe(bytes > 256 * 1024 ? 413 : 400);
		expect(inbox.items).toEqual([]);
	});
});
