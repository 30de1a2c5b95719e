// The code under test: a page where an agent takes a chat over. In a browser, axios sends an XMLHttpRequest.
const axios = require('axios')

const sender = { name: 'Anna', avatar: 'https://desk.example.test/anna.png' }

exports.addTakeOverButton = (parent, { url, key, botId, chatId }) => {
  const button = parent.appendChild(document.createElement('button'))
  button.textContent = 'Take over'
  button.onclick = async () => {
    const headers = { authorization: `Bearer ${key}` }
    await axios.post(`${url}/api/v2/handover/start`, { bot_id: botId, chat_id: chatId, sender }, { headers })
    button.textContent = 'Chatting'
  }
  return button
}
