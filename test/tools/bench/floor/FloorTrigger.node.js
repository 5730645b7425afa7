/** The least that a trigger can do: it hands on the body of a webhook, or starts nothing. */
class FloorTrigger {
	description = {
		displayName: 'Floor Trigger',
		name: 'floorTrigger',
		group: ['trigger'],
		version: 2,
		description: 'What n8n itself takes for a webhook',
		defaults: { name: 'Floor Trigger' },
		inputs: [],
		outputs: ['main'],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: 'noData',
				path: 'floor',
			},
		],
		properties: [{ displayName: 'Starts', name: 'starts', type: 'boolean', default: true }],
	};

	async webhook() {
		if (!this.getNodeParameter('starts')) return {};
		return { workflowData: [[{ json: this.getBodyData() }]] };
	}
}

module.exports = { FloorTrigger };
